// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A contract wallet with one owner
contract ContractWallet is IERC1271 {
    address private immutable OWNER;

    /// @param owner the account whose ECDSA signatures the wallet accepts
    constructor(address owner) {
        OWNER = owner;
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address signer, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(hash, signature);
        bool accepted = problem == ECDSA.RecoverError.NoError && signer == OWNER;
        return accepted ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
