<?php
// In a project of your own, Composer makes the loader: require 'vendor/autoload.php'.
require $argv[1];
spl_autoload_register(function (string $class): void {
    $path = __DIR__ . '/lib' . strtr(substr($class, strlen('OpenAPI\\Client')), '\\', '/') . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\') && is_file($path)) {
        require_once $path;
    }
});

// #region docs
use OpenAPI\Client\{ApiException, Configuration};
use OpenAPI\Client\Api\BuyersApi;
use OpenAPI\Client\Model\{BuyerCreate, BuyerUpdate};

$trunkline = (new Configuration())->setHost(getenv('TRUNKLINE_URL'))
    ->setUsername(getenv('TRUNKLINE_KEY'))->setPassword(getenv('TRUNKLINE_SECRET'));
$buyers = new BuyersApi(config: $trunkline);
$coast = new BuyerCreate(['name' => 'Coast', 'number' => '+13105550123']);
$made = $buyers->createBuyer($coast, idempotency_key: 'coast-1')->getBuyer();
$buyers->updateBuyer((string) $made->getId(), new BuyerUpdate(['name' => 'Coast Legal']));
$page = $buyers->listBuyers(cursor: -1, per_page: 2);
try {
    $buyers->createBuyer(new BuyerCreate(['name' => 'Coast', 'number' => '555']));
} catch (ApiException $refused) {
    $problem = $refused->getResponseObject(); // $problem->getErrors()['number']
}
// #endregion

use OpenAPI\Client\Api\{BuyerSuppressionFilesApi, CallSessionsApi, LeadsApi, RoutingApi};
use OpenAPI\Client\Api\SchedulesApi;
use OpenAPI\Client\Model\{CallSessionCreate, LeadSubmission, ScheduleUpdate};

$again = $buyers->createBuyer($coast, idempotency_key: 'coast-1')->getBuyer();
$shown = $buyers->showBuyer((string) $made->getId())->getBuyer();

$pages = [];
for ($cursor = -1; $cursor !== 0; $cursor = $page->getMetadata()->getNextCursor()) {
    $page = $buyers->listBuyers(cursor: $cursor, per_page: 2);
    $pages[] = array_map(fn ($buyer) => $buyer->getName(), $page->getBuyers());
}

$rename = new ScheduleUpdate(['name' => 'New']);
(new SchedulesApi(config: $trunkline))->updateSchedule(getenv('SCHEDULE_ID'), $rename);

$submission = new LeadSubmission([
    'lead_token' => getenv('LEAD_TOKEN'),
    'caller_id' => '(310) 555-0177',
    'data' => ['first_name' => 'Ann'],
]);
$lead = (new LeadsApi(config: $trunkline))->submitLead(lead_submission: $submission)->getLead();

$files = new BuyerSuppressionFilesApi(config: $trunkline);
file_put_contents('numbers.csv', "6175550144\nnone\n");
$file = $files->createBuyerSuppressionFile(
    buyer_suppression_id: getenv('SUPPRESSION_ID'),
    import_file: new SplFileObject('numbers.csv'),
)->getBuyerSuppressionFile();
while (in_array($file->getStatus(), ['pending', 'running'])) {
    usleep(100_000);
    $file = $files->showBuyerSuppressionFile((string) $file->getId())->getBuyerSuppressionFile();
}

$begin = new CallSessionCreate([
    'offer_id' => getenv('OFFER_ID'),
    'caller_number' => '+13105550177',
]);
$call = (new CallSessionsApi(config: $trunkline))->createCallSession($begin)->getCallSession();
[$decision] = (new RoutingApi(config: $trunkline))
    ->showCallDecision($call->getUuid())
    ->getDecisions();
$instruction = $call->getInstruction();

echo json_encode([
    'created' => [$made->getName(), $again->getId() === $made->getId()],
    'shown' => $shown->getName(),
    'pages' => $pages,
    'lead' => [$lead->getCallerId(), $lead->getData()],
    'imported' => [$file->getStatus(), $file->getImportCount(), $file->getRejectedCount()],
    'call' => [
        $instruction->getAction(),
        array_map(fn ($dial) => $dial->getName(), $instruction->getDial()),
    ],
    'decision' => array_map(
        fn ($buyer) => [$buyer->getName(), $buyer->getChosen()],
        $decision->getCandidates(),
    ),
    'problem' => [$problem->getStatus(), array_keys($problem->getErrors())],
]), "\n";
