// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";

/// @title A caller of the library's pairing check
/// @notice The word where the result will be is 1 before the check, as a call before it may leave it.
contract PairingCaller {
    /// @notice Checks whether the product of pairings is one.
    /// @param pairs six words for each pair
    /// @return true if it is one
    function pairingIsOne(uint256[] memory pairs) external view returns (bool) {
        assembly ("memory-safe") {
            mstore(0x00, 1)
        }
        return Bn254.pairingIsOne(pairs);
    }
}
