// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title Code for accounts with a delegation (EIP-7702)
/// @notice The account accepts signatures of its own key, and of a session key behind one byte 1.
contract DelegatedAccount is IERC1271 {
    address private immutable SESSION;

    /// @param session the account of the session key
    constructor(address session) {
        SESSION = session;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool bySession = signature.length == 66 && signature[0] == 0x01;
        (address signer, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(hash, bySession ? signature[1:] : signature);
        bool accepted = problem == ECDSA.RecoverError.NoError && signer == (bySession ? SESSION : address(this));
        return accepted ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
