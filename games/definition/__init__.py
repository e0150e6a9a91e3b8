"""Games as data: definitions in TOML, their checks, and the reference rules made from them.

The way of a definition: `document` reads the text, `expression` parses the strings in it,
`params` fits a spec to it, `board` and `model` say what a position consists of, `rules`, `moves`
and `ground` make `tables` of all moves, `symmetry`, `measure` and `ranges` prove what holds
about them, `reference` and `game` play by them, `library` finds definitions by name.
"""
