// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token without EIP-3009 and without permits
contract PlainToken is ERC20 {
    constructor() ERC20("Plain Dollar", "PLAIN") {}

    /// @notice Creates units; anyone may call it.
    /// @param to account that receives them
    /// @param amount base units
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice As dollars have.
    /// @return count of decimals
    function decimals() public pure virtual override returns (uint8 count) {
        return 6;
    }
}
