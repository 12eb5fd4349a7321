// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {FIELD_MODULUS} from "../../../contracts/libraries/Bn254.sol";
import {Trapdoor} from "./Fixture.sol";

/// @title Proofs of any statement under a development key, from its published secrets
/// @notice A = G1 and B = G2, so the verification equation gives C. The verifiers are the real ones, and the tests ask
/// only for proofs that an honest prover could make.
library Forger {
    /// @notice A proof that the verifier accepts for these signals.
    /// @param self secrets of the verifier's key
    /// @param signals public signals in wire order, below p
    /// @return proof in the word order of IVerifier.sol
    function prove(Trapdoor storage self, uint256[] memory signals) internal view returns (uint256[8] memory proof) {
        uint256 c = self.base;
        for (uint256 i = 0; i < signals.length; ++i) {
            c = addmod(c, FIELD_MODULUS - mulmod(self.factors[i], signals[i], FIELD_MODULUS), FIELD_MODULUS);
        }
        proof[0] = 1;
        proof[1] = 2;
        proof[2] = 10857046999023057135944570762232829481370756359578518086990519993285655852781;
        proof[3] = 11559732032986387107991004021392285783925812861821192530917403151452391805634;
        proof[4] = 8495653923123431417604973247489272438418190587263600148770280649306958101930;
        proof[5] = 4082367875863433681332203403145435568316851327593401208105741076214120093531;
        uint256[3] memory input = [1, 2, c];
        uint256[2] memory point;
        assembly ("memory-safe") {
            if iszero(staticcall(gas(), 0x07, input, 0x60, point, 0x40)) {
                revert(0, 0)
            }
        }
        proof[6] = point[0];
        proof[7] = point[1];
    }
}
