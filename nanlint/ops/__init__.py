"""The op table: per torch operation its names, its range transfer, and its danger zones per dtype and direction.

One table, two readers: facts ask whether an operand's range meets a danger zone, confirm steers the operand into it.

    names        every spelling, and the canonical name      signatures   parameters, nn.Module forms, binding
    interval     the lattice of ranges                       formats      the four float formats, CUDA's autocast
    arithmetic   + - * / min max on intervals                curves       monotone functions and powers of them
    ranges       what an operation returns                   zones        what breaks it
    defaults     the eps nobody sees, least counts

The data is in `tables` and `transfers`. Tests hold all of it against torch itself.
"""
