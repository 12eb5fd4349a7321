// SPDX-License-Identifier: GPL-3.0-or-later
// Exported from the keys of circuits/artifacts.lock.json by scripts/setup, never edited.
pragma solidity 0.8.37;

import {IWithdrawalVerifier} from "../interfaces/IVerifier.sol";
import {DevelopmentKeysGuard} from "../libraries/DevelopmentKeysGuard.sol";

/// @title Groth16 verifier of the withdrawal circuit
/// @notice Key set: development.
contract WithdrawalVerifier is IWithdrawalVerifier, DevelopmentKeysGuard {
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
    uint256 private constant IC0_X = 8698305604672651271025585829330030118619761702460503563783335506995577170535;
    uint256 private constant IC0_Y = 21863634545823845862050834727109691765553200809707313831322841017497514428828;
    uint256 private constant IC1_X = 3748117427053069564061086951944121398084785007766233506191029461054687796181;
    uint256 private constant IC1_Y = 15891968405116849648099984734891518144037694690312330900245808518369082576043;
    uint256 private constant IC2_X = 19783672579028108149494334924117571612789923554128506553420814914679278373942;
    uint256 private constant IC2_Y = 21453331539237023821299693009589798621988228194962715060147451178710424619661;
    uint256 private constant IC3_X = 19090309392817501821272461178613846749297759314754645566197399178288387173274;
    uint256 private constant IC3_Y = 17600084099083912539455978134461745000983282691256854673288651313701630581953;
    uint256 private constant IC4_X = 7918202915478340608129264518706981044226856246488612525871143955293476427154;
    uint256 private constant IC4_Y = 7496085518939396691031484523870434833241068145222310120780044400465912378110;
    uint256 private constant IC5_X = 4531141096843487978832797091252721613000842877404201621975318684676436086155;
    uint256 private constant IC5_Y = 17391076914563656780803749260175498956604426681174552969607584267976862701251;
    uint256 private constant IC6_X = 5448197800309767479249108208123962909250126802977958737106338815964954409214;
    uint256 private constant IC6_Y = 15947869089426008265505358855827739221669447072231491017160972869985308001646;
    uint256 private constant IC7_X = 16359286764351892348458787383526916596012398973784526904433958529058215123523;
    uint256 private constant IC7_Y = 13035154244118398382051723940589170370119638323731742473398225473767577402210;
    uint256 private constant IC8_X = 12625697224890752891076026122087451955469600144154993174202727043532842029377;
    uint256 private constant IC8_Y = 21140082854524115044307665261115420140371221334063625277021754189732639112723;
    uint256 private constant IC9_X = 11745466961834908712131522311390741723411999696880090816453630834368999548029;
    uint256 private constant IC9_Y = 2421079807704905057736006724752614973280971899169114475510667089250094139670;
    uint256 private constant IC10_X = 20522388256897096447739534019791628752744924471550992197664679852804103810525;
    uint256 private constant IC10_Y = 2261188694333732266819310257350046064995806878498335529320496275605917518331;
    uint256 private constant IC11_X = 18356775418840648198064356199874210548758518235281520627747126553355093352583;
    uint256 private constant IC11_Y = 17048932963811271726958644946232293152519830618146153044507438969648961131434;
    uint256 private constant IC12_X = 816391428133663608650200413678214575151388186034381483185236182328669829397;
    uint256 private constant IC12_Y = 11553322708695747660886242534958951473732167191001109024601603145403344447806;
    uint256 private constant IC13_X = 8649402813646741428997590060060422417176043798470731986958830006332958939315;
    uint256 private constant IC13_Y = 5254552440693044137158712356083534780650391002441685911935548108445211812340;

    /// @inheritdoc IWithdrawalVerifier
    /// @dev Checks e(A, B) . e(alpha, -beta) . e(IC(signals), -gamma) . e(C, -delta) = 1. The signs are in the
    /// constants, so that the proof's words go to the precompile as they came: it refuses a coordinate that is not
    /// canonical, a point off its curve and a B outside the subgroup.
    ///
    /// The pairing's input, four pairs of six words, starts at 0x00. It overwrites the memory that Solidity reserves,
    /// which is safe because the assembly ends the call. The sum over the signals stays at 0x180. Until gamma and delta
    /// are written, 0x1c0 contains the product to add, and 0x200 the point and the signal to multiply.
    function verifyProof(uint256[8] calldata proof, uint256[13] calldata signals) external view returns (bool) {
        assembly {
            let ok := 1
            mstore(0x180, IC0_X)
            mstore(0x1a0, IC0_Y)
            let signal
            signal := calldataload(signals)
            ok := and(ok, lt(signal, R))
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

            signal := calldataload(add(signals, 0x60))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC4_X)
            mstore(0x220, IC4_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x80))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC5_X)
            mstore(0x220, IC5_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0xa0))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC6_X)
            mstore(0x220, IC6_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0xc0))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC7_X)
            mstore(0x220, IC7_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0xe0))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC8_X)
            mstore(0x220, IC8_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x100))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC9_X)
            mstore(0x220, IC9_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x120))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC10_X)
            mstore(0x220, IC10_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x140))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC11_X)
            mstore(0x220, IC11_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x160))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC12_X)
            mstore(0x220, IC12_Y)
            mstore(0x240, signal)
            ok := and(ok, staticcall(gas(), 0x07, 0x200, 0x60, 0x1c0, 0x40))
            ok := and(ok, staticcall(gas(), 0x06, 0x180, 0x80, 0x180, 0x40))

            signal := calldataload(add(signals, 0x180))
            ok := and(ok, lt(signal, R))
            mstore(0x200, IC13_X)
            mstore(0x220, IC13_Y)
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
            mstore(0x00, and(ok, mload(0x00)))
            return(0x00, 0x20)
        }
    }

    /// @inheritdoc IWithdrawalVerifier
    function verificationKey() external pure returns (uint256[42] memory) {
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
            mstore(0x2c0, IC4_X)
            mstore(0x2e0, IC4_Y)
            mstore(0x300, IC5_X)
            mstore(0x320, IC5_Y)
            mstore(0x340, IC6_X)
            mstore(0x360, IC6_Y)
            mstore(0x380, IC7_X)
            mstore(0x3a0, IC7_Y)
            mstore(0x3c0, IC8_X)
            mstore(0x3e0, IC8_Y)
            mstore(0x400, IC9_X)
            mstore(0x420, IC9_Y)
            mstore(0x440, IC10_X)
            mstore(0x460, IC10_Y)
            mstore(0x480, IC11_X)
            mstore(0x4a0, IC11_Y)
            mstore(0x4c0, IC12_X)
            mstore(0x4e0, IC12_Y)
            mstore(0x500, IC13_X)
            mstore(0x520, IC13_Y)
            return(0x00, 0x540)
        }
    }
}
