// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title Poseidon of three inputs, as in circomlib
/// @notice The deployed PoseidonT4 library of poseidon-solidity. Its function is pure, so the pool calls the library as
/// if it were a contract. Linking it would compile its source with the IR pipeline, whose output is twice as large as a
/// chain accepts.
interface INoteHasher {
    /// @notice Poseidon3(inputs[0], inputs[1], inputs[2]).
    /// @param inputs field elements, each below the field modulus
    /// @return result a field element
    function hash(uint256[3] calldata inputs) external pure returns (uint256 result);
}
