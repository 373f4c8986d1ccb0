"""One answer to "why is my loss NaN?", from all that a project holds.

    project (what is there) -> steps, each giving clues -> ranking (clues to causes) -> answer -> text | document | page

Every step is somebody else's work: configs and code are judged by `nanlint.api`, saved states by `nanlint.checkpoint`, code is
run by `nanlint.confirm` behind its walls, the training script by `nanlint.trace`. Here they are put in order and weighed.
Torch is not imported here.
"""
