// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {ERC20, ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {PlainToken} from "./PlainToken.sol";

/// @title A token with permits (EIP-2612) and without EIP-3009
contract PermitToken is PlainToken, ERC20Permit {
    constructor() ERC20Permit("Plain Dollar") {}

    /// @inheritdoc PlainToken
    function decimals() public pure override(ERC20, PlainToken) returns (uint8 count) {
        return PlainToken.decimals();
    }
}
