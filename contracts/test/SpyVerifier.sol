// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {NOTE_APPEND_KEY_WORDS, NOTE_APPEND_PUBLIC_SIGNALS} from "../libraries/CircuitConstants.sol";

/// @title A verifier that reverts with the signals that it is asked about
/// @notice Tests read the public signals that NoteTree computes for an append. It is asked about a proof of zeros at
/// deployment and rejects it.
contract SpyVerifier {
    /// @dev A key whose gamma and delta differ, as the pool's constructor requires.
    uint256[NOTE_APPEND_KEY_WORDS] private _key;

    /// @notice The pool asked about these signals.
    /// @param signals the public signals
    error Asked(uint256[NOTE_APPEND_PUBLIC_SIGNALS] signals);

    constructor() {
        _key[6] = 1;
    }

    /// @notice Never returns true.
    /// @param proof eight words; zeros are rejected without an error
    /// @param signals public signals in wire order
    /// @return valid false
    function verifyNoteAppend(
        uint256[8] calldata proof,
        uint256[NOTE_APPEND_PUBLIC_SIGNALS] calldata signals
    ) external pure returns (bool valid) {
        if (proof[0] != 0) revert Asked(signals);
        return false;
    }

    /// @notice The key, which has only what the constructor compares.
    /// @return key see INoteAppendVerifier
    function verificationKey() external view returns (uint256[NOTE_APPEND_KEY_WORDS] memory key) {
        return _key;
    }
}
