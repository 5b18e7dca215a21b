//! Coupled multibody and granular dynamics with nonsmooth contact.
