pragma circom 2.2.0;

// Domain separation. Every use of Poseidon but two puts its own constant into the capacity lane, so that a hash made
// for one purpose is never a valid hash for another. It costs no constraint. Note commitments and tree nodes are the
// two: Solidity computes commitments, and the libraries there know only 0; a node uses the lane for its first child.
function DOMAIN_NOTE() { return 0; }
function DOMAIN_OWNER_TAG() { return 1; }
function DOMAIN_NULLIFIER() { return 2; }
function DOMAIN_ENCRYPTION() { return 3; }
function DOMAIN_SENDER_COMMITMENT() { return 4; }
function DOMAIN_RECIPIENT() { return 5; }
