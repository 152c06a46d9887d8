import { mediaScenarios } from '../sip/support/adapter-media';
import { testScenarios } from './support/freeswitch-world';

testScenarios(mediaScenarios, { side_by_side: true });
