// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

// Word order of a proof, on the wire, in snarkjs and here: a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, where b.x0 is pi_b[0][0]
// of snarkjs (the real part). The pairing precompile takes the imaginary part first; the verifier swaps them.
//
// A verifier returns false for every invalid proof, for coordinates outside the field, for points off the curve and for
// signals >= p. It never reverts on well-formed calldata.
//
// The function that verifies is named for the circuit: two circuits have as many public signals, and the pool's constructor
// must find a verifier of the other one.

/// @title Verifier of the payment circuit, with its key for batch verification
interface IPaymentVerifier {
    /// @notice Verifies one proof.
    /// @param proof eight words in the order above
    /// @param signals public signals in wire order
    /// @return valid true if the proof is valid for these signals
    function verifyPayment(uint256[8] calldata proof, uint256[10] calldata signals) external view returns (bool valid);

    /// @notice The verification key, flattened, in the order that the precompiles take.
    /// @return key 0-1 alpha (x y), 2-5 beta, 6-9 gamma, 10-13 delta (each x1 x0 y1 y0), then IC[0] .. IC[10] (x y)
    function verificationKey() external pure returns (uint256[36] memory key);
}

/// @title Verifier of the withdrawal circuit
interface IWithdrawalVerifier {
    /// @notice Verifies one proof.
    /// @param proof eight words in the order above
    /// @param signals public signals in wire order
    /// @return valid true if the proof is valid for these signals
    function verifyWithdrawal(
        uint256[8] calldata proof,
        uint256[3] calldata signals
    ) external view returns (bool valid);

    /// @notice The verification key, flattened, in the order that the precompiles take.
    /// @return key as in IPaymentVerifier, with IC[0] .. IC[3]
    function verificationKey() external pure returns (uint256[22] memory key);
}

/// @title Verifier of the note_append circuit
interface INoteAppendVerifier {
    /// @notice Verifies one proof.
    /// @param proof eight words in the order above
    /// @param signals public signals in wire order
    /// @return valid true if the proof is valid for these signals
    function verifyNoteAppend(
        uint256[8] calldata proof,
        uint256[3] calldata signals
    ) external view returns (bool valid);

    /// @notice The verification key, flattened, in the order that the precompiles take.
    /// @return key as in IPaymentVerifier, with IC[0] .. IC[3]
    function verificationKey() external pure returns (uint256[22] memory key);
}
