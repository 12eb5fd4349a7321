// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @dev Proof words, everywhere (wire, snarkjs, here): a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, where b.x0 is snarkjs's
/// pi_b[0][0] (the real part). The verifier does the swap that the pairing precompile wants (imaginary part first).
///
/// A verifier returns false for every proof that does not hold, for coordinates outside the field, for points off the
/// curve and for signals >= p. It never reverts on well-formed calldata.

/// @notice Verifier of the payment circuit, with its key for batch verification.
interface IPaymentVerifier {
    function verifyProof(uint256[8] calldata proof, uint256[10] calldata signals) external view returns (bool);

    /// @notice The verification key, flattened, ready for the precompiles (G2 in the precompile's order: x1 x0 y1 y0).
    /// @return key 0-1 alpha (x y), 2-5 beta, 6-9 gamma, 10-13 delta (each x1 x0 y1 y0), then IC[0] .. IC[10] (x y).
    function verificationKey() external pure returns (uint256[36] memory key);
}

/// @notice Verifier of the withdrawal circuit.
interface IWithdrawalVerifier {
    function verifyProof(uint256[8] calldata proof, uint256[13] calldata signals) external view returns (bool);

    /// @return key As in IPaymentVerifier, with IC[0] .. IC[13].
    function verificationKey() external pure returns (uint256[42] memory key);
}

/// @notice Verifier of the note_append circuit.
interface INoteAppendVerifier {
    function verifyProof(uint256[8] calldata proof, uint256[6] calldata signals) external view returns (bool);

    /// @return key As in IPaymentVerifier, with IC[0] .. IC[6].
    function verificationKey() external pure returns (uint256[28] memory key);
}
