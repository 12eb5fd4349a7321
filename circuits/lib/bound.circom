pragma circom 2.2.0;

// A public signal the circuit does not compute with. A signal in no constraint drops out of the verification equation,
// and a proof would then hold for any value of it: one square keeps it in.
template Bound() {
    signal input value;

    // [C:bound.square] ties the proof to this value of the signal.
    signal square <== value * value;
}
