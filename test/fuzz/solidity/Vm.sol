// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title The cheatcodes of Hardhat's test runner that the fuzz tests use
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function addr(uint256 key) external pure returns (address account);
    function etch(address account, bytes calldata code) external;
    function getCode(string calldata artifact) external view returns (bytes memory code);
    function getRecordedLogs() external returns (Log[] memory logs);
    function prank(address sender) external;
    function projectRoot() external view returns (string memory path);
    function readFileBinary(string calldata path) external view returns (bytes memory data);
    function recordLogs() external;
    function roll(uint256 number) external;
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function store(address account, bytes32 slot, bytes32 value) external;
    function warp(uint256 timestamp) external;
}

/// @dev The address at which the runner answers: the last 20 bytes of keccak256("hevm cheat code").
Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
