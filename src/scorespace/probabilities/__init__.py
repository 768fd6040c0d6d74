"""Can it be believed: probabilities tested, summed up in words, and mapped to better ones."""
