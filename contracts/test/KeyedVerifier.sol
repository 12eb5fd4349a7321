// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {PAYMENT_KEY_WORDS} from "../libraries/CircuitConstants.sol";

/// @title A verifier with a chosen gamma and delta that rejects every proof
/// @notice Tests show which keys the pool refuses to be deployed with.
contract KeyedVerifier {
    /// @dev A key as long as that of the circuit with the most signals. A caller that expects a shorter key reads its
    /// beginning.
    uint256[PAYMENT_KEY_WORDS] private _key;

    /// @param gamma the point gamma, x1 x0 y1 y0
    /// @param delta the point delta, x1 x0 y1 y0
    constructor(uint256[4] memory gamma, uint256[4] memory delta) {
        for (uint256 i = 0; i < 4; ++i) {
            _key[6 + i] = gamma[i];
            _key[10 + i] = delta[i];
        }
    }

    /// @notice The key, for any circuit.
    /// @return key see IPaymentVerifier
    function verificationKey() external view returns (uint256[PAYMENT_KEY_WORDS] memory key) {
        return _key;
    }

    fallback() external {
        assembly ("memory-safe") {
            mstore(0, 0)
            return(0, 32)
        }
    }
}
