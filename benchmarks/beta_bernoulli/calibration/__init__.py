"""Probabilities of Beta-Bernoulli models beside logistic regression and a calibrated SVM."""
