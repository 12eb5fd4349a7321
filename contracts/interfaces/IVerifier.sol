// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {
    NOTE_APPEND_KEY_WORDS,
    NOTE_APPEND_PUBLIC_SIGNALS,
    PAYMENT_KEY_WORDS,
    PAYMENT_PUBLIC_SIGNALS,
    WITHDRAWAL_KEY_WORDS,
    WITHDRAWAL_PUBLIC_SIGNALS
} from "../libraries/CircuitConstants.sol";

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
    function verifyPayment(
        uint256[8] calldata proof,
        uint256[PAYMENT_PUBLIC_SIGNALS] calldata signals
    ) external view returns (bool valid);

    /// @notice The verification key, flattened, in the order that the precompiles take.
    /// @return key 0-1 alpha (x y), 2-5 beta, 6-9 gamma, 10-13 delta (each x1 x0 y1 y0), then each point IC (x y)
    function verificationKey() external pure returns (uint256[PAYMENT_KEY_WORDS] memory key);
}

/// @title Verifier of the withdrawal circuit
interface IWithdrawalVerifier {
    /// @notice Verifies one proof.
    /// @param proof eight words in the order above
    /// @param signals public signals in wire order
    /// @return valid true if the proof is valid for these signals
    function verifyWithdrawal(
        uint256[8] calldata proof,
        uint256[WITHDRAWAL_PUBLIC_SIGNALS] calldata signals
    ) external view returns (bool valid);

    /// @notice The verification key, flattened, in the order that the precompiles take.
    /// @return key as in IPaymentVerifier
    function verificationKey() external pure returns (uint256[WITHDRAWAL_KEY_WORDS] memory key);
}

/// @title Verifier of the note_append circuit
interface INoteAppendVerifier {
    /// @notice Verifies one proof.
    /// @param proof eight words in the order above
    /// @param signals public signals in wire order
    /// @return valid true if the proof is valid for these signals
    function verifyNoteAppend(
        uint256[8] calldata proof,
        uint256[NOTE_APPEND_PUBLIC_SIGNALS] calldata signals
    ) external view returns (bool valid);

    /// @notice The verification key, flattened, in the order that the precompiles take.
    /// @return key as in IPaymentVerifier
    function verificationKey() external pure returns (uint256[NOTE_APPEND_KEY_WORDS] memory key);
}
