// SPDX-License-Identifier: GPL-3.0-or-later
// Exported from the keys of circuits/artifacts.lock.json by scripts/setup, never edited.
pragma solidity 0.8.37;

import {IWithdrawalVerifier} from "../interfaces/IVerifier.sol";
import {Bn254Guard} from "../libraries/Bn254Guard.sol";
import {DevelopmentKeysGuard} from "../libraries/DevelopmentKeysGuard.sol";

/// @title Groth16 verifier of the withdrawal circuit
/// @notice Key set: development.
contract WithdrawalVerifier is IWithdrawalVerifier, Bn254Guard, DevelopmentKeysGuard {
    /// @dev Order of the groups: every public signal is below it.
    uint256 private constant R = 21888242871839275222246405745257275088548364400416034343698204186575808495617;

    uint256 private constant ALPHA_X = 18286437731311341371576449901673191371265393546317588915227576493021179786281;
    uint256 private constant ALPHA_Y = 6383504971177419822385481242359813544861503783033591220634386788279464602313;
    uint256 private constant BETA_X1 = 6577051039914648820547910688162310186316438160568358820078620788317933968102;
    uint256 private constant BETA_X0 = 9765800809774083985277186704283989666669842411837119689850586827534960620836;
    uint256 private constant BETA_Y1 = 7819801143510145937610537341847776719984113793870971311931651473731970995097;
    uint256 private constant BETA_Y0 = 5211054914741713428768377778419226763248847534519042210742848830886334350893;
    uint256 private constant MINUS_BETA_Y1 =
        14068441728329129284635868403409498368712197363426852350757386420913255213486;
    uint256 private constant MINUS_BETA_Y0 =
        16677187957097561793478027966838048325447463622778781451946189063758891857690;
    uint256 private constant GAMMA_X1 = 11559732032986387107991004021392285783925812861821192530917403151452391805634;
    uint256 private constant GAMMA_X0 = 10857046999023057135944570762232829481370756359578518086990519993285655852781;
    uint256 private constant GAMMA_Y1 = 4082367875863433681332203403145435568316851327593401208105741076214120093531;
    uint256 private constant GAMMA_Y0 = 8495653923123431417604973247489272438418190587263600148770280649306958101930;
    uint256 private constant MINUS_GAMMA_Y1 =
        17805874995975841540914202342111839520379459829704422454583296818431106115052;
    uint256 private constant MINUS_GAMMA_Y0 =
        13392588948715843804641432497768002650278120570034223513918757245338268106653;
    uint256 private constant DELTA_X1 = 17151691075105868360245194890015926968254258301062526544635003593730409997422;
    uint256 private constant DELTA_X0 = 2325092836321951838022840399143060581945026419314311619586198464659368364796;
    uint256 private constant DELTA_Y1 = 9324141900592128743829845218899864644000120815854610110967355096583753917657;
    uint256 private constant DELTA_Y0 = 12556144014881628952958416572701011479857519802839531863087225481505747917826;
    uint256 private constant MINUS_DELTA_Y1 =
        12564100971247146478416560526357410444696190341443213551721682798061472290926;
    uint256 private constant MINUS_DELTA_Y0 =
        9332098856957646269287989172556263608838791354458291799601812413139478290757;
    uint256 private constant IC0_X = 2789335961994922450110979223440742081882460753260408155786429528696915673761;
    uint256 private constant IC0_Y = 8605389247096188217517356000881168614001949075863949817432103587751591989672;
    uint256 private constant IC1_X = 6062218868381612495364441262215382266039498610353381120931496553987704677620;
    uint256 private constant IC1_Y = 7713852146657539195976530105267615471303019064362408822700038054625011857895;
    uint256 private constant IC2_X = 3060339690083412520251060833302613213275886547756274750767766059818736945363;
    uint256 private constant IC2_Y = 11446343341943823591566439635392015073811879428323787279942098140059728687057;
    uint256 private constant IC3_X = 11840005979384273313581526386335482210311374179377112958892790306484225063772;
    uint256 private constant IC3_Y = 1587934757919277432258609634127961270011415735489293758964193964135752661009;

    /// @inheritdoc IWithdrawalVerifier
    /// @dev Checks e(A, B) . e(alpha, -beta) . e(IC(signals), -gamma) . e(C, -delta) = 1. The signs are in the
    /// constants, so that the proof's words go to the precompile as they came: it refuses a coordinate that is not
    /// canonical, a point off its curve and a B outside the subgroup. A call to an address without code succeeds and
    /// returns nothing, so only one returned word that is 1 counts.
    ///
    /// The pairing's input, four pairs of six words, starts at 0x00. It overwrites the memory that Solidity reserves,
    /// which is safe because the assembly ends the call. The sum over the signals stays at 0x180. Until gamma and delta
    /// are written, 0x1c0 contains the product to add, and 0x200 the point and the signal to multiply.
    function verifyWithdrawal(uint256[8] calldata proof, uint256[3] calldata signals) external view returns (bool) {
        assembly {
            mstore(0x180, IC0_X)
            mstore(0x1a0, IC0_Y)

            let signal := calldataload(signals)
            let ok := lt(signal, R)
            mstore(0x200, IC1_X)
            mstore(0x220, IC1_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x20))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC2_X)
            mstore(0x220, IC2_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x40))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC3_X)
            mstore(0x220, IC3_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            calldatacopy(0x00, proof, 0x40)
            // The precompile wants the imaginary part of a coordinate first.
            mstore(0x40, calldataload(add(proof, 0x60)))
            mstore(0x60, calldataload(add(proof, 0x40)))
            mstore(0x80, calldataload(add(proof, 0xa0)))
            mstore(0xa0, calldataload(add(proof, 0x80)))

            mstore(0xc0, ALPHA_X)
            mstore(0xe0, ALPHA_Y)
            mstore(0x100, BETA_X1)
            mstore(0x120, BETA_X0)
            mstore(0x140, MINUS_BETA_Y1)
            mstore(0x160, MINUS_BETA_Y0)

            mstore(0x1c0, GAMMA_X1)
            mstore(0x1e0, GAMMA_X0)
            mstore(0x200, MINUS_GAMMA_Y1)
            mstore(0x220, MINUS_GAMMA_Y0)

            calldatacopy(0x240, add(proof, 0xc0), 0x40)
            mstore(0x280, DELTA_X1)
            mstore(0x2a0, DELTA_X0)
            mstore(0x2c0, MINUS_DELTA_Y1)
            mstore(0x2e0, MINUS_DELTA_Y0)

            ok := and(ok, staticcall(gas(), 0x08, 0x00, 0x300, 0x00, 0x20))
            mstore(0x00, and(and(ok, eq(returndatasize(), 0x20)), eq(mload(0x00), 1)))
            return(0x00, 0x20)
        }
    }

    /// @inheritdoc IWithdrawalVerifier
    function verificationKey() external pure returns (uint256[22] memory) {
        assembly {
            mstore(0x00, ALPHA_X)
            mstore(0x20, ALPHA_Y)
            mstore(0x40, BETA_X1)
            mstore(0x60, BETA_X0)
            mstore(0x80, BETA_Y1)
            mstore(0xa0, BETA_Y0)
            mstore(0xc0, GAMMA_X1)
            mstore(0xe0, GAMMA_X0)
            mstore(0x100, GAMMA_Y1)
            mstore(0x120, GAMMA_Y0)
            mstore(0x140, DELTA_X1)
            mstore(0x160, DELTA_X0)
            mstore(0x180, DELTA_Y1)
            mstore(0x1a0, DELTA_Y0)
            mstore(0x1c0, IC0_X)
            mstore(0x1e0, IC0_Y)
            mstore(0x200, IC1_X)
            mstore(0x220, IC1_Y)
            mstore(0x240, IC2_X)
            mstore(0x260, IC2_Y)
            mstore(0x280, IC3_X)
            mstore(0x2a0, IC3_Y)
            return(0x00, 0x2c0)
        }
    }
}
