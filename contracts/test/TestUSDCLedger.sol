// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title Balances, allowances, blocklist and pause of the test dollar
abstract contract TestUSDCLedger {
    uint256 private constant _BLOCKED = 1 << 255;

    uint256 public totalSupply;
    bool public paused;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    /// @dev The top bit says whether the account is blocked, as in FiatTokenV2_2.
    mapping(address account => uint256) private _balanceAndBlocked;
    address private immutable _ADMIN = msg.sender;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();

    modifier notPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier onlyAdmin() {
        require(msg.sender == _ADMIN, "Ownable: caller is not the owner");
        _;
    }

    function pause() external onlyAdmin {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyAdmin {
        paused = false;
        emit Unpause();
    }

    function blacklist(address account) external onlyAdmin {
        _balanceAndBlocked[account] |= _BLOCKED;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyAdmin {
        _balanceAndBlocked[account] &= ~_BLOCKED;
        emit UnBlacklisted(account);
    }

    function isBlacklisted(address account) external view returns (bool) {
        return _balanceAndBlocked[account] >= _BLOCKED;
    }

    function balanceOf(address account) public view returns (uint256) {
        return _balanceAndBlocked[account] & ~_BLOCKED;
    }

    function _requireNotBlocked(address account) internal view {
        require(_balanceAndBlocked[account] < _BLOCKED, "Blacklistable: account is blacklisted");
    }

    function _transfer(address from, address to, uint256 value) internal {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        uint256 balance = balanceOf(from);
        require(value <= balance, "ERC20: transfer amount exceeds balance");
        _setBalance(from, balance - value);
        _setBalance(to, balanceOf(to) + value);
        emit Transfer(from, to, value);
    }

    function _approve(address owner, address spender, uint256 value) internal {
        require(owner != address(0), "ERC20: approve from the zero address");
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function _setBalance(address account, uint256 balance) internal {
        require(balance < _BLOCKED, "FiatTokenV2_2: Balance exceeds (2^255 - 1)");
        require(_balanceAndBlocked[account] < _BLOCKED, "FiatTokenV2_2: Account is blacklisted");
        _balanceAndBlocked[account] = balance;
    }
}
