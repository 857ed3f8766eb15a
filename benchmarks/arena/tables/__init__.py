"""The arena of tables: classifiers on texts, numbers and missing values as people have them."""
