"""How much must be seen before it is reported, where several checks agree on it."""

#: More than this share of the rankings must have a property, ...
MOST_RANKINGS = 0.5
#: ... or so many rankings of so many documents each, and this share of them.
LEAST_RANKINGS, LEAST_LONG, LEAST_SHARE = 3, 5, 0.1
#: Fewer queries show nothing about all of them.
LEAST_QUERIES = 6
#: How many different documents, or judgements, show something.
LEAST_DIFFERENT = 30
#: How many documents of a ranking show whose ranking it is.
TOP = 10
#: By how many standard errors a number must differ from what is expected by chance.
STANDARD_ERRORS = 3.0
#: How many examples a suspicion has.
MOST_EXAMPLES = 3
