"""The analysis: functions become graphs of operations, joined through the project. It reads the `ast` and runs nothing.

op_graph      values and the operations that made them
make          one operation on known values: its range, dtype, kind and gradient
relations     what two operands that are related make of each other
interpreter/  walks a function once and emits operations
project/      files, functions and classes; what is returned, what callers pass, where results go
config/       what training configs state, in config files and in Python
"""
