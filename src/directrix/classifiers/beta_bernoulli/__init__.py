"""BetaBernoulliClassifier: logistic regression with bounded losses, and what only it needs."""
