// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {Bn254} from "./Bn254.sol";

/// @title Keeps contracts off chains without the BN254 precompiles
/// @notice A call to an address without code succeeds and returns nothing. If a chain had no precompile there, a contract
/// would take its own input for the result. So the constructor lets each precompile compute something it knows.
abstract contract Bn254Guard {
    /// @dev The x of 2 G, for the generator G = (1, 2) of G1.
    uint256 private constant _TWICE_X = 1368015179489954701390400359078579693043519447331113978918064868415326638035;
    /// @dev The y of 2 G.
    uint256 private constant _TWICE_Y = 9918110051302171585080402603319702774565515993150576347155970296011118125764;

    /// @notice This chain has no precompile at an address, or another contract.
    /// @param precompile 6 for addition, 7 for multiplication, 8 for the pairing check
    error Bn254PrecompileMissing(uint256 precompile);

    constructor() {
        (bool ok, uint256 x, uint256 y) = Bn254.multiply(1, 2, 2);
        if (!ok || x != _TWICE_X || y != _TWICE_Y) revert Bn254PrecompileMissing(7);
        Bn254.Sum memory sum = Bn254.Sum(1, 2);
        if (!Bn254.accumulate(sum, 1, 2, 1) || sum.x != _TWICE_X || sum.y != _TWICE_Y) revert Bn254PrecompileMissing(6);
        // e(G, H) is not 1, and e(G, H) e(-G, H) is, for the generator H of G2.
        uint256[] memory pairs = new uint256[](6);
        _setPair(pairs, 0, 2);
        if (Bn254.pairingIsOne(pairs)) revert Bn254PrecompileMissing(8);
        pairs = new uint256[](12);
        _setPair(pairs, 0, 2);
        _setPair(pairs, 6, Bn254.negate(2));
        if (!Bn254.pairingIsOne(pairs)) revert Bn254PrecompileMissing(8);
    }

    /// @dev Sets the six words from `offset` on to ((1, y), H). The imaginary part of a coordinate comes first.
    function _setPair(uint256[] memory pairs, uint256 offset, uint256 y) private pure {
        pairs[offset] = 1;
        pairs[offset + 1] = y;
        pairs[offset + 2] = 11559732032986387107991004021392285783925812861821192530917403151452391805634;
        pairs[offset + 3] = 10857046999023057135944570762232829481370756359578518086990519993285655852781;
        pairs[offset + 4] = 4082367875863433681332203403145435568316851327593401208105741076214120093531;
        pairs[offset + 5] = 8495653923123431417604973247489272438418190587263600148770280649306958101930;
    }
}
