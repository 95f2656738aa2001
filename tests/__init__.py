"""The tests. `tests.reference` holds the slow, obvious versions of the games that the engines are compared with."""
