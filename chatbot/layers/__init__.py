"""Keras layers, a file for each idea."""

import keras

# A stray floatx in the user's ~/.keras/keras.json must not change what is trained.
keras.config.set_floatx("float32")
