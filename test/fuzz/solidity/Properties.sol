// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {Vm, vm} from "./Vm.sol";
import {World} from "./World.sol";

/// @title The properties of docs/properties.md, checked against a world after each call of the fuzzer
abstract contract Properties {
    World internal world;

    /// @dev The property is broken.
    error Broken(string problem);

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(world);
    }

    function targetSelectors() external view returns (Vm.FuzzSelector[] memory targets) {
        targets = new Vm.FuzzSelector[](1);
        targets[0] = Vm.FuzzSelector(address(world), _selectors());
    }

    function _selectors() internal view virtual returns (bytes4[] memory);

    /// @dev A world from its artifact, so that the test contracts stay small. The parameters are those of World.
    function _world(string memory artifact, uint256 ringSize, bool honest) internal returns (World created) {
        bytes memory code = vm.getCode("project/test/fuzz/solidity/generated/Tests.t.sol:DeployedWorld");
        code = bytes.concat(code, abi.encode(artifact, ringSize, honest));
        assembly ("memory-safe") {
            created := create(0, add(code, 0x20), mload(code))
        }
        require(address(created) != address(0), "the world was not created");
    }

    function _require(string memory problem) internal pure {
        if (bytes(problem).length != 0) revert Broken(problem);
    }

    function _solvency() internal view {
        _require(world.solvency());
    }

    function _nullifiers() internal view {
        _require(world.spentMarks());
    }

    function _order() internal view {
        _require(world.order());
    }

    function _canAppend() internal {
        _require(world.canAppend());
    }

    function _canExit() internal {
        _require(world.canExit());
    }

    function _canExitRecorded() internal {
        _require(world.canExitRecorded());
    }

    function _payouts() internal view {
        _require(world.payouts());
    }

    function _deposits() internal view {
        _require(world.broken(7));
    }

    function _roots() internal view {
        _require(world.rootHistory());
    }

    function _deadlines() internal view {
        _require(world.broken(9));
    }

    function _proved() internal view {
        _require(world.broken(10));
    }

    function _outcomes() internal view {
        _require(world.broken(11));
    }

    function _events() internal view {
        _require(world.broken(12));
    }
}
