// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IPaymentVerifier} from "../interfaces/IVerifier.sol";
import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {ChosenPayments} from "./ChosenPayments.sol";
import {Bn254} from "./Bn254.sol";
// PAYMENT_SIGNAL_BYTES is used in assembly, which solhint does not read.
// solhint-disable-next-line no-unused-import
import {PAYMENT_KEY_WORDS, PAYMENT_PUBLIC_SIGNALS, PAYMENT_SIGNAL_BYTES} from "./CircuitConstants.sol";
import {PaymentSignals} from "./PaymentSignals.sol";

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
    /// @dev Words of a pair: G1 x y, G2 x1 x0 y1 y0.
    uint256 private constant PAIR_WORDS = 6;
    /// @dev Index of IC[0] in the flattened key.
    uint256 private constant IC = 14;
    /// @dev IC points: one for the constant, and one for each signal.
    uint256 private constant SCALARS = PAYMENT_PUBLIC_SIGNALS + 1;

    /// @notice Verifies one proof.
    /// @param verifier verifier that has the key
    /// @param payment the payment with its proof
    /// @return valid true if the proof is valid
    function verifyOne(
        IPaymentVerifier verifier,
        IShieldedPool.Payment calldata payment
    ) internal view returns (bool valid) {
        bytes4 selector = IPaymentVerifier.verifyPayment.selector;
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, selector)
            // The eight words of the proof and the signals are next to each other in both calls.
            calldatacopy(add(buffer, 0x04), payment, add(0x100, PAYMENT_SIGNAL_BYTES))
            valid := staticcall(gas(), verifier, buffer, add(0x104, PAYMENT_SIGNAL_BYTES), 0x00, 0x20)
            valid := and(valid, and(eq(returndatasize(), 0x20), eq(mload(0x00), 1)))
        }
    }

    /// @notice Verifies the proofs of the chosen payments. All their signals must be below p.
    /// @param verifier verifier that has the key
    /// @param chosen the payments, a list of ChosenPayments
    /// @param count number of payments, at least two: the first C is checked when the second is added
    /// @return true if all these proofs are valid
    function verify(IPaymentVerifier verifier, uint256[] memory chosen, uint256 count) internal view returns (bool) {
        uint256[PAYMENT_KEY_WORDS] memory key = verifier.verificationKey();
        bytes32 seed = _seed(key, chosen, count);

        uint256[] memory pairs = new uint256[]((count + 3) * PAIR_WORDS);
        uint256[SCALARS] memory scalars;
        Bn254.Sum memory sumC;
        for (uint256 i = 0; i < count; ++i) {
            (IShieldedPool.Payment calldata payment, ) = ChosenPayments.get(chosen, i);
            uint256 weight = 1;
            uint256 pair;
            assembly ("memory-safe") {
                pair := add(add(pairs, 0x20), mul(i, 0xc0))
            }
            if (i == 0) {
                // Not multiplied: the pairing checks A, and the addition of the next C checks this one.
                assembly ("memory-safe") {
                    calldatacopy(pair, payment, 0x40)
                    calldatacopy(sumC, add(payment, 0xc0), 0x40)
                }
            } else {
                assembly ("memory-safe") {
                    mstore(0x00, seed)
                    mstore(0x20, i)
                    weight := shr(128, keccak256(0x00, 0x40))
                }
                // A precompile that fails consumes all the gas it was given, so return at once.
                if (!_addProof(payment, weight, pair, sumC)) return false;
            }
            _setB(payment, pair);
            PaymentSignals.addWeighted(scalars, payment.signals, weight);
        }
        return _finish(key, scalars, sumC, pairs, count);
    }

    /// @dev Writes weight * A to the pair and adds weight * C to the sum.
    /// @return ok true if A and C are points of the curve
    function _addProof(
        IShieldedPool.Payment calldata payment,
        uint256 weight,
        uint256 pair,
        Bn254.Sum memory sumC
    ) private view returns (bool ok) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            calldatacopy(buffer, payment, 0x40)
            mstore(add(buffer, 0x40), weight)
            ok := staticcall(gas(), 0x07, buffer, 0x60, pair, 0x40)
            if ok {
                calldatacopy(buffer, add(payment, 0xc0), 0x40)
                ok := staticcall(gas(), 0x07, buffer, 0x60, buffer, 0x40)
                mcopy(add(buffer, 0x40), sumC, 0x40)
                ok := and(staticcall(gas(), 0x06, buffer, 0x80, sumC, 0x40), ok)
            }
        }
    }

    /// @dev Writes B to the pair. The precompile takes the imaginary part first.
    function _setB(IShieldedPool.Payment calldata payment, uint256 pair) private pure {
        assembly ("memory-safe") {
            mstore(add(pair, 0x40), calldataload(add(payment, 0x60)))
            mstore(add(pair, 0x60), calldataload(add(payment, 0x40)))
            mstore(add(pair, 0x80), calldataload(add(payment, 0xa0)))
            mstore(add(pair, 0xa0), calldataload(add(payment, 0x80)))
        }
    }

    /// @dev Adds the three pairs that all proofs share and checks the product.
    function _finish(
        uint256[PAYMENT_KEY_WORDS] memory key,
        uint256[SCALARS] memory scalars,
        Bn254.Sum memory sumC,
        uint256[] memory pairs,
        uint256 count
    ) private view returns (bool) {
        (bool ok, uint256 x, uint256 y) = Bn254.multiply(key[0], key[1], scalars[0]);
        _setPair(pairs, count, x, y, key, 2);
        Bn254.Sum memory sum;
        bool done;
        (done, sum.x, sum.y) = Bn254.multiply(key[IC], key[IC + 1], scalars[0]);
        for (uint256 j = 1; j < SCALARS; ++j) {
            done = Bn254.accumulate(sum, key[IC + 2 * j], key[IC + 2 * j + 1], scalars[j]) && done;
        }
        _setPair(pairs, count + 1, sum.x, sum.y, key, 6);
        _setPair(pairs, count + 2, sumC.x, sumC.y, key, 10);
        return ok && done && Bn254.pairingIsOne(pairs);
    }

    /// @dev Sets the pair at `index` to (-(x, y), the G2 point of the key at word `g2`).
    function _setPair(
        uint256[] memory pairs,
        uint256 index,
        uint256 x,
        uint256 y,
        uint256[PAYMENT_KEY_WORDS] memory key,
        uint256 g2
    ) private pure {
        uint256 offset = index * PAIR_WORDS;
        pairs[offset] = x;
        pairs[offset + 1] = Bn254.negate(y);
        for (uint256 i = 0; i < 4; ++i) pairs[offset + 2 + i] = key[g2 + i];
    }

    /// @dev keccak256 of the key's hash, N and, for each proof, its eight words and the hash of its signals.
    function _seed(
        uint256[PAYMENT_KEY_WORDS] memory key,
        uint256[] memory chosen,
        uint256 count
    ) private pure returns (bytes32 seed) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, keccak256(key, mul(PAYMENT_KEY_WORDS, 0x20)))
            mstore(add(buffer, 0x20), count)
            let end := add(buffer, 0x40)
            let entry := add(chosen, 0x20)
            for {
                let last := add(entry, shl(6, count))
            } lt(entry, last) {
                entry := add(entry, 0x40)
            } {
                calldatacopy(end, mload(entry), 0x100)
                mstore(add(end, 0x100), mload(add(entry, 0x20)))
                end := add(end, 0x120)
            }
            seed := keccak256(buffer, sub(end, buffer))
        }
    }
}
