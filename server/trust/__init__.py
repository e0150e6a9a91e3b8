"""Who is believed and why, who may do what, and the record of it.

Answers: `voting` decides one question, `comparison` a batch of them in the database,
`records` keeps what hosts have earned, `credit` what they are owed, the `referee` searches itself,
`provenance` finds what bounds rest on, `retraction` takes out of the tree what is believed no more,
`assurance` has a campaign's proof confirmed before it ends. People: `accounts` and their tokens,
`certificates`, what operators do (`administration`), how they ask for it (`operations`) and the
`audit` of it.
"""
