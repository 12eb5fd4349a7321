// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {PoolDeposits} from "./pool/PoolDeposits.sol";
import {PoolPayments} from "./pool/PoolPayments.sol";
import {PoolState} from "./pool/PoolState.sol";
import {PoolWithdrawals} from "./pool/PoolWithdrawals.sol";

/// @title The shielded pool
/// @notice See IShieldedPool. No owner, no admin, no upgrade: what is deployed stays as it is.
contract ShieldedPool is PoolDeposits, PoolPayments, PoolWithdrawals {
    /// @param token_ the token of all notes: plain (no fee on transfers, no rebasing), with EIP-3009 for sponsored deposits
    /// @param paymentVerifier_ verifier of the payment circuit
    /// @param withdrawalVerifier_ verifier of the withdrawal circuit
    /// @param noteAppendVerifier_ verifier of the note_append circuit
    /// @param noteHasher_ Poseidon of three inputs
    /// @param smallestDeposit_ token base units, at least 1: keeps deposits of dust out of the tree
    constructor(
        address token_,
        address paymentVerifier_,
        address withdrawalVerifier_,
        address noteAppendVerifier_,
        address noteHasher_,
        uint64 smallestDeposit_
    )
        PoolState(token_, noteAppendVerifier_)
        PoolDeposits(noteHasher_, smallestDeposit_)
        PoolPayments(paymentVerifier_)
        PoolWithdrawals(withdrawalVerifier_)
    {}
}
