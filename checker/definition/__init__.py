"""The checker's own rules for definitions, made from the text alone.

Nothing here is shared with `zermelo.games.definition` or the engines. A position has a byte for
each cell, and sets of cells are asked cell by cell. The way of a text: `reading` and `expressions`
take it apart, `parameters`, `boards` and `pieces` say what there is, `meanings` and `candidates`
make the ground `cases` of `terms`, `mapping` and `ending` prove symmetries and the end, `playing`
and `positions` are the rules, `game` is all of it behind the interface of a game.
"""
