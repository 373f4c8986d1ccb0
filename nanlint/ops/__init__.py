"""The op table: per torch operation its names, its range transfer, and its danger zones per dtype and direction.

One table, two readers: facts ask whether an operand's range meets a danger zone, confirm steers the operand into it.

    names        spellings and canonical names           signatures   parameters, nn.Module forms, binding of arguments
    formats      the four float formats, autocast        interval     the lattice of ranges
    ranges       what an operation returns               zones        what breaks it
"""
