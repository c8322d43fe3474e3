"""The notes' procedures and examples, computed: what ``teach`` shows.

A room of its own: nothing imports it but the command. The notes are those of Vitay (a
lecture) and of Vert (an introduction); theirs is the machine of two classes, and here
each procedure trains that of Q classes, of which theirs is the case Q = 2.
"""
