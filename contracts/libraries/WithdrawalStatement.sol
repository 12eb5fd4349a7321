// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

// solhint does not read the assembly that uses these.
// solhint-disable no-unused-import
import {FIELD_MODULUS} from "./Bn254.sol";
import {WITHDRAWAL_COMMITMENT_AT, WITHDRAWAL_PUBLIC_SIGNALS, WITHDRAWAL_SIGNALS} from "./CircuitConstants.sol";
// solhint-enable no-unused-import

/// @title What the verifier is asked about a withdrawal
/// @notice The verifier gets three public signals instead of the thirteen signals of a withdrawal, because each public
/// signal costs a scalar multiplication. The circuit computes statementHash and evaluation from its own amount, root,
/// nullifiers and commitment. statementHash commits the prover to them before the challenge is known, so others than
/// those of the signals give the same evaluation with a probability of about 2^-250. The challenge binds context and
/// changeHint. docs/protocol.md, "The withdrawal challenge", has the argument.
library WithdrawalStatement {
    /// @notice The public signals of the withdrawal circuit.
    /// @param statementHash any value; a proof exists only for the hash of signals 1 to 11
    /// @param signals the signals of the withdrawal, each below p
    /// @param digest keccak256 of the signals
    /// @return result statementHash, challenge z = keccak256(statementHash, digest) mod p, and evaluation y = sum of
    /// signals[1 + i] * z^i mod p, with i from 0 to 10
    function publicSignals(
        uint256 statementHash,
        uint256[WITHDRAWAL_SIGNALS] calldata signals,
        bytes32 digest
    ) internal pure returns (uint256[WITHDRAWAL_PUBLIC_SIGNALS] memory result) {
        assembly ("memory-safe") {
            mstore(0x00, statementHash)
            mstore(0x20, digest)
            let z := mod(keccak256(0x00, 0x40), FIELD_MODULUS)
            // Horner's method, from the commitment down to the amount, signal 1.
            let y := 0
            for {
                let position := add(signals, WITHDRAWAL_COMMITMENT_AT)
            } gt(position, signals) {
                position := sub(position, 0x20)
            } {
                y := addmod(mulmod(y, z, FIELD_MODULUS), calldataload(position), FIELD_MODULUS)
            }
            mstore(result, statementHash)
            mstore(add(result, 0x20), z)
            mstore(add(result, 0x40), y)
        }
    }
}
