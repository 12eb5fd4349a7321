// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A contract wallet that all of its owners sign for
contract OwnersWallet is IERC1271 {
    address[] private _owners;

    /// @param owners the accounts whose ECDSA signatures make a signature of the wallet, one after the other
    constructor(address[] memory owners) {
        _owners = owners;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65 * _owners.length) return bytes4(0xffffffff);
        for (uint256 i = 0; i < _owners.length; ++i) {
            (address signer, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(hash, signature[65 * i:65 * (i + 1)]);
            if (problem != ECDSA.RecoverError.NoError || signer != _owners[i]) return bytes4(0xffffffff);
        }
        return IERC1271.isValidSignature.selector;
    }
}
