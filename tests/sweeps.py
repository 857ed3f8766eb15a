"""Recipes of a cost sweep, for tests of what fits them."""

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.margin import Logistic
from directrix.linear.recipes import RATIOS, RIDGES, Recipe


def cost_sweep(ridges=RIDGES, ratios=RATIOS, gammas=(1.0, 4.0), strongest=5e-3):
    """Return weighted logistic fits, each from the one before, followed by sharpened losses."""
    recipes, last = [], None
    for ridge in ridges:
        for ratio in ratios:
            last = Recipe(Logistic(), ridge, ratio, last)
            recipes.append(last)
            for gamma in gammas if ridge <= strongest else ():
                loss = BetaBernoulli(mixing=0.2, gamma=gamma)
                recipes.append(Recipe(loss, ridge, ratio, recipes[-1]))
    return recipes
