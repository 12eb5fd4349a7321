// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {BASE_MODULUS} from "./Field.sol";

/// @title The BN254 precompiles
/// @notice Each reports failure (a coordinate that is not canonical, a point off the curve or outside the subgroup)
/// instead of reverting.
library Bn254 {
    /// @dev A running sum of points; starts at (0, 0), the point at infinity.
    struct Sum {
        uint256 x;
        uint256 y;
    }

    /// @notice scalar * (x, y), EIP-196.
    function multiply(uint256 x, uint256 y, uint256 scalar) internal view returns (bool ok, uint256 rx, uint256 ry) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, x)
            mstore(add(buffer, 0x20), y)
            mstore(add(buffer, 0x40), scalar)
            ok := staticcall(gas(), 0x07, buffer, 0x60, buffer, 0x40)
            rx := mload(buffer)
            ry := mload(add(buffer, 0x20))
        }
    }

    /// @notice sum += scalar * (x, y).
    function accumulate(Sum memory sum, uint256 x, uint256 y, uint256 scalar) internal view returns (bool ok) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, x)
            mstore(add(buffer, 0x20), y)
            mstore(add(buffer, 0x40), scalar)
            ok := staticcall(gas(), 0x07, buffer, 0x60, buffer, 0x40)
            mstore(add(buffer, 0x40), mload(sum))
            mstore(add(buffer, 0x60), mload(add(sum, 0x20)))
            ok := and(staticcall(gas(), 0x06, buffer, 0x80, sum, 0x40), ok)
        }
    }

    /// @notice y of the negative of a point with this y.
    /// @param y canonical (a precompile's or a key's); 0 only for the point at infinity
    function negate(uint256 y) internal pure returns (uint256) {
        return y == 0 ? 0 : BASE_MODULUS - y;
    }

    /// @notice Whether the product of the pairings is one, EIP-197.
    /// @param pairs six words each: G1 x y, G2 x1 x0 y1 y0
    function pairingIsOne(uint256[] memory pairs) internal view returns (bool result) {
        assembly ("memory-safe") {
            let ok := staticcall(gas(), 0x08, add(pairs, 0x20), mul(mload(pairs), 0x20), 0x00, 0x20)
            result := and(ok, eq(mload(0x00), 1))
        }
    }
}
