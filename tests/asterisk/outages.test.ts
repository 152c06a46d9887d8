import { outageScenarios } from '../sip/support/adapter-outages';
import { testScenarios } from './support/asterisk-world';

testScenarios(outageScenarios, { side_by_side: false });
