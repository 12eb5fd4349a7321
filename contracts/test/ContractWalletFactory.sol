// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {ContractWallet} from "./ContractWallet.sol";

/// @title Deploys contract wallets at addresses that are known in advance (CREATE2)
contract ContractWalletFactory {
    /// @notice Deploys the wallet of an owner, unless it is deployed already.
    /// @param owner owner of the wallet
    /// @param salt salt of CREATE2
    /// @return wallet its address
    function create(address owner, bytes32 salt) external returns (address wallet) {
        wallet = addressOf(owner, salt);
        if (wallet.code.length == 0) new ContractWallet{salt: salt}(owner);
    }

    /// @notice Address at which `create` deploys the wallet.
    /// @param owner owner of the wallet
    /// @param salt salt of CREATE2
    /// @return the address
    function addressOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
