config = {"lr": 0.1, "hidden": 8}
for name, value in config.items():  # refused: '.items' is a method
    print(name, value)
