// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity ^0.8.28;

import {ContractWallet} from "./ContractWallet.sol";

/// @title Makes contract wallets at addresses known before
contract ContractWalletFactory {
    /// @notice The wallet of an owner, made where it is not there yet.
    function create(address owner, bytes32 salt) external returns (address wallet) {
        wallet = addressOf(owner, salt);
        if (wallet.code.length == 0) new ContractWallet{salt: salt}(owner);
    }

    /// @notice Where `create` makes it.
    function addressOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
