pragma circom 2.2.0;

// Binds a public signal that the circuit does not compute with. A signal without a constraint drops out of the
// verification equation, so a proof would be valid for any value of it. One square keeps it in.
template Bound() {
    // Any field element.
    signal input value;

    // [C:bound.square] Binds the proof to this value of the signal.
    signal square <== value * value;
}
