// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {TestUSDCAuthorization} from "./TestUSDCAuthorization.sol";

/// @title A dollar token for tests
/// @notice Behaves like Circle's FiatTokenV2_2: 6 decimals, EIP-712 domain "USD Coin" version "2", EIP-2612, EIP-3009
/// with the same error texts, a blocklist bit in the slot of the balance, and a pause. There are two differences: anyone
/// may mint, and it is not a proxy (the proxy of the real token adds about 7,000 gas to a transfer). It is worth nothing
/// and is never deployed on a public chain.
contract TestUSDC is TestUSDCAuthorization {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    string public constant currency = "USD";
    uint8 public constant decimals = 6;

    event Mint(address indexed minter, address indexed to, uint256 amount);

    /// @notice Creates units; anyone may call it.
    /// @param to account that receives them
    /// @param amount base units
    function mint(address to, uint256 amount) external notPaused {
        require(to != address(0), "FiatToken: mint to the zero address");
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        totalSupply += amount;
        _setBalance(to, balanceOf(to) + amount);
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
    }

    /// @notice EIP-20.
    function transfer(address to, uint256 value) external notPaused returns (bool) {
        _requireNotBlocked(msg.sender);
        _requireNotBlocked(to);
        _transfer(msg.sender, to, value);
        return true;
    }

    /// @notice EIP-20. As in the real token, an allowance is never infinite.
    function transferFrom(address from, address to, uint256 value) external notPaused returns (bool) {
        _requireNotBlocked(msg.sender);
        _requireNotBlocked(from);
        _requireNotBlocked(to);
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        _transfer(from, to, value);
        allowance[from][msg.sender] = allowed - value;
        return true;
    }

    /// @notice EIP-20. As in the real token, a blocked account may approve, but its tokens cannot move.
    function approve(address spender, uint256 value) external notPaused returns (bool) {
        _approve(msg.sender, spender, value);
        return true;
    }
}
