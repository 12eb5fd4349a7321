// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @dev Order p of BN254's groups, the modulus of the circuits' field. Every public signal is below it.
uint256 constant FIELD_MODULUS = 21888242871839275222246405745257275088548364400416034343698204186575808495617;

/// @dev Modulus q of BN254's base field. The coordinates of proof points are below it.
uint256 constant BASE_MODULUS = 21888242871839275222246405745257275088696311157297823662689037894645226208583;

/// @title The BN254 precompiles
/// @notice No function reverts. Each returns whether its precompile succeeded: it fails for a coordinate that is not
/// canonical and for a point off the curve or outside the subgroup. On a chain without the precompiles a call succeeds and
/// returns nothing: Bn254Guard keeps contracts off such a chain, and pairingIsOne is false there.
library Bn254 {
    /// @dev A running sum of points. It starts at (0, 0), the point at infinity.
    struct Sum {
        uint256 x;
        uint256 y;
    }

    /// @notice Computes scalar * (x, y), EIP-196.
    /// @param x x of the point
    /// @param y y of the point
    /// @param scalar any number; the precompile reduces it
    /// @return ok true if (x, y) is a point of the curve
    /// @return rx x of the product
    /// @return ry y of the product
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

    /// @notice Computes sum += scalar * (x, y).
    /// @param sum the running sum; it is changed
    /// @param x x of the point
    /// @param y y of the point
    /// @param scalar any number; the precompile reduces it
    /// @return ok true if (x, y) is a point of the curve
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

    /// @notice Negates a point, given its y; x stays the same.
    /// @param y canonical y, from a precompile or a key; 0 only for the point at infinity
    /// @return y of the negative
    function negate(uint256 y) internal pure returns (uint256) {
        return y == 0 ? 0 : BASE_MODULUS - y;
    }

    /// @notice Checks whether the product of pairings is one, EIP-197.
    /// @param pairs six words for each pair: G1 x y, G2 x1 x0 y1 y0
    /// @return result true if it is one; false also if a point is not valid
    function pairingIsOne(uint256[] memory pairs) internal view returns (bool result) {
        assembly ("memory-safe") {
            let ok := staticcall(gas(), 0x08, add(pairs, 0x20), mul(mload(pairs), 0x20), 0x00, 0x20)
            result := and(and(ok, eq(returndatasize(), 0x20)), eq(mload(0x00), 1))
        }
    }
}
