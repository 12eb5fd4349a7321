// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IPaymentVerifier} from "../interfaces/IVerifier.sol";
import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
// FIELD_MODULUS is used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
import {Bn254, FIELD_MODULUS} from "./Bn254.sol";

/// @title Many payment proofs in one pairing check
/// @notice N proofs under one key are all valid, except with probability 2^-128 for each attempt, if
///
///   prod e(w_i A_i, B_i) . e(-(sum w_i) alpha, beta) . e(-sum w_i IC(signals_i), gamma) . e(-sum w_i C_i, delta) = 1
///
/// for random weights w_i. This takes N + 3 pairings instead of 4 N. The first weight is 1. Each other weight has 128 bits
/// and is derived from its index and one hash over the key, N and every word of every proof and its signals. Changing one
/// word changes these weights, so an attacker cannot choose one proof to compensate for another. docs/protocol.md, "Batches
/// of proofs", has the argument. The pairing precompile itself rejects points B outside the subgroup; a random combination
/// could not, because the cofactor has small prime factors.
library BatchVerifier {
    /// @dev CircuitConstants.PAYMENT_SIGNALS. The compiler does not accept that constant as the length of an array.
    uint256 private constant SIGNALS = 10;
    uint256 private constant PROOF_WORDS = 8;
    uint256 private constant PAIR_WORDS = 6;
    /// @dev Index of IC[0] in the flattened key.
    uint256 private constant IC = 14;

    /// @notice Verifies the proofs of the chosen payments. All their signals must be below p.
    /// @param verifier verifier that has the key
    /// @param payments all payments of the call
    /// @param chosen indices of the payments to verify, at least two: the first C is checked when the second is added
    /// @return true if all these proofs are valid
    function verify(
        IPaymentVerifier verifier,
        IShieldedPool.Payment[] calldata payments,
        uint256[] memory chosen
    ) internal view returns (bool) {
        uint256[36] memory key = verifier.verificationKey();
        uint256 count = chosen.length;
        bytes32 seed = _seed(key, payments, chosen);

        uint256[] memory pairs = new uint256[]((count + 3) * PAIR_WORDS);
        uint256[SIGNALS + 1] memory scalars;
        Bn254.Sum memory sumC;
        for (uint256 i = 0; i < count; ++i) {
            IShieldedPool.Payment calldata payment = payments[chosen[i]];
            uint256[PROOF_WORDS] calldata proof = payment.proof;
            uint256 weight = 1;
            (uint256 x, uint256 y) = (proof[0], proof[1]);
            if (i == 0) {
                // Not multiplied: the pairing checks A, and the addition of the next C checks this one.
                (sumC.x, sumC.y) = (proof[6], proof[7]);
            } else {
                weight = uint256(keccak256(abi.encode(seed, i))) >> 128;
                // A precompile that fails consumes all the gas it was given, so return at once.
                if (!Bn254.accumulate(sumC, proof[6], proof[7], weight)) return false;
                bool ok;
                (ok, x, y) = Bn254.multiply(x, y, weight);
                if (!ok) return false;
            }
            _addSignals(scalars, payment.signals, weight);
            uint256 offset = i * PAIR_WORDS;
            pairs[offset] = x;
            pairs[offset + 1] = y;
            // The precompile takes the imaginary part first.
            pairs[offset + 2] = proof[3];
            pairs[offset + 3] = proof[2];
            pairs[offset + 4] = proof[5];
            pairs[offset + 5] = proof[4];
        }
        return _finish(key, scalars, sumC, pairs, count);
    }

    /// @dev Computes scalars += weight * (1, signals...) mod p.
    function _addSignals(
        uint256[SIGNALS + 1] memory scalars,
        uint256[SIGNALS] calldata signals,
        uint256 weight
    ) private pure {
        assembly ("memory-safe") {
            mstore(scalars, addmod(mload(scalars), weight, FIELD_MODULUS))
            for {
                let i := 0
            } lt(i, SIGNALS) {
                i := add(i, 1)
            } {
                let slot := add(scalars, shl(5, add(i, 1)))
                let term := mulmod(weight, calldataload(add(signals, shl(5, i))), FIELD_MODULUS)
                mstore(slot, addmod(mload(slot), term, FIELD_MODULUS))
            }
        }
    }

    /// @dev Adds the three pairs that all proofs share and checks the product.
    function _finish(
        uint256[36] memory key,
        uint256[SIGNALS + 1] memory scalars,
        Bn254.Sum memory sumC,
        uint256[] memory pairs,
        uint256 count
    ) private view returns (bool) {
        Bn254.Sum memory sumAlpha;
        Bn254.Sum memory sumSignals;
        bool ok = Bn254.accumulate(sumAlpha, key[0], key[1], scalars[0]);
        for (uint256 j = 0; j <= SIGNALS; ++j) {
            ok = Bn254.accumulate(sumSignals, key[IC + 2 * j], key[IC + 2 * j + 1], scalars[j]) && ok;
        }
        _setPair(pairs, count, sumAlpha, key, 2);
        _setPair(pairs, count + 1, sumSignals, key, 6);
        _setPair(pairs, count + 2, sumC, key, 10);
        return ok && Bn254.pairingIsOne(pairs);
    }

    /// @dev Sets the pair at `index` to (-sum, the G2 point of the key at word `g2`).
    function _setPair(
        uint256[] memory pairs,
        uint256 index,
        Bn254.Sum memory sum,
        uint256[36] memory key,
        uint256 g2
    ) private pure {
        uint256 offset = index * PAIR_WORDS;
        pairs[offset] = sum.x;
        pairs[offset + 1] = Bn254.negate(sum.y);
        for (uint256 i = 0; i < 4; ++i) pairs[offset + 2 + i] = key[g2 + i];
    }

    /// @dev keccak256 of the key's hash, N and, for each proof, the hash of its eight words and its signals.
    function _seed(
        uint256[36] memory key,
        IShieldedPool.Payment[] calldata payments,
        uint256[] memory chosen
    ) private pure returns (bytes32) {
        bytes32[] memory digests = new bytes32[](chosen.length);
        for (uint256 i = 0; i < chosen.length; ++i) {
            IShieldedPool.Payment calldata payment = payments[chosen[i]];
            digests[i] = keccak256(abi.encode(payment.proof, payment.signals));
        }
        return keccak256(abi.encode(keccak256(abi.encode(key)), chosen.length, digests));
    }
}
