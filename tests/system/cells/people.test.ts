import { onCluster, onDistributedDatabases } from '../../support/citus';
import { GUARANTEES, runSuites } from '../../support/suites';

onCluster(() => runSuites(GUARANTEES.people, () => onDistributedDatabases()));
