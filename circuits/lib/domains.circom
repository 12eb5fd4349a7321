pragma circom 2.2.0;

// Domain separation. Every use of Poseidon except two puts its own constant into the capacity lane, so that a hash made
// for one purpose is never a valid hash for another. This costs no constraint. The two exceptions are note commitments,
// which Solidity computes with a library that supports only 0, and tree nodes, which use the lane for the first child.
function DOMAIN_NOTE() { return 0; }
function DOMAIN_OWNER_TAG() { return 1; }
function DOMAIN_NULLIFIER() { return 2; }
function DOMAIN_ENCRYPTION() { return 3; }
function DOMAIN_SENDER_COMMITMENT() { return 4; }
function DOMAIN_RECIPIENT() { return 5; }
// 6 is the domain of change, which no circuit computes.
function DOMAIN_WITHDRAWAL() { return 7; }
