// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

/// @title A verifier with chosen gamma and delta that refuses every proof, for the test of what a pool accepts
contract KeyedVerifier {
    /// @dev A key of the largest circuit; a caller that expects a shorter one reads its beginning.
    uint256[42] private _key;

    /// @param gamma x1 x0 y1 y0
    /// @param delta x1 x0 y1 y0
    constructor(uint256[4] memory gamma, uint256[4] memory delta) {
        for (uint256 i = 0; i < 4; ++i) {
            _key[6 + i] = gamma[i];
            _key[10 + i] = delta[i];
        }
    }

    /// @notice The key of a verifier of any circuit.
    function verificationKey() external view returns (uint256[42] memory key) {
        return _key;
    }

    fallback() external {
        assembly ("memory-safe") {
            mstore(0, 0)
            return(0, 32)
        }
    }
}
