// A program of a user of the Java client; docs/sdk.md shows the region.
import java.io.File;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Driver {
  public static void main(String[] args) throws Exception {
    Problem problem = null;
    // #region docs
    ApiClient trunkline = new ApiClient().setBasePath(System.getenv("TRUNKLINE_URL"));
    trunkline.setUsername(System.getenv("TRUNKLINE_KEY"));
    trunkline.setPassword(System.getenv("TRUNKLINE_SECRET"));
    BuyersApi buyers = new BuyersApi(trunkline);

    BuyerCreate coast = new BuyerCreate().name("Coast").number("+13105550123");
    Buyer made = buyers.createBuyer(coast).idempotencyKey("coast-1").execute().getBuyer();
    String id = made.getId().toString();
    buyers.updateBuyer(id, new BuyerUpdate().name("Coast Legal")).execute();
    BuyerPage page = buyers.listBuyers().cursor(-1L).perPage(2).execute();
    try {
      buyers.createBuyer(new BuyerCreate().name("Coast").number("555")).execute();
    } catch (ApiException refused) {
      problem = Problem.fromJson(refused.getResponseBody());
    }
    // #endregion

    Buyer again = buyers.createBuyer(coast).idempotencyKey("coast-1").execute().getBuyer();
    Buyer shown = buyers.showBuyer(id).execute().getBuyer();

    List<List<String>> pages = new ArrayList<>();
    for (Long cursor = -1L; cursor != 0; cursor = page.getMetadata().getNextCursor()) {
      page = buyers.listBuyers().cursor(cursor).perPage(2).execute();
      pages.add(page.getBuyers().stream().map(Buyer::getName).toList());
    }

    new SchedulesApi(trunkline)
        .updateSchedule(System.getenv("SCHEDULE_ID"), new ScheduleUpdate().name("New"))
        .execute();

    LeadSubmission submission =
        new LeadSubmission()
            .leadToken(System.getenv("LEAD_TOKEN"))
            .callerId("(310) 555-0177")
            .data(Map.of("first_name", "Ann"));
    Lead lead = new LeadsApi(trunkline).submitLead().leadSubmission(submission).execute().getLead();

    BuyerSuppressionFile file = upload(new BuyerSuppressionFilesApi(trunkline));

    CallSessionCreate begin =
        new CallSessionCreate().offerId(System.getenv("OFFER_ID")).callerNumber("+13105550177");
    CallSession call =
        new CallSessionsApi(trunkline).createCallSession(begin).execute().getCallSession();
    RoutingDecision decision =
        new RoutingApi(trunkline)
            .showCallDecision(call.getUuid().toString())
            .execute()
            .getDecisions()
            .get(0);
    CallInstruction instruction = call.getInstruction();

    Map<String, Object> result = new LinkedHashMap<>();
    result.put("created", List.of(made.getName(), again.getId().equals(made.getId())));
    result.put("shown", shown.getName());
    result.put("pages", pages);
    result.put("lead", List.of(lead.getCallerId(), lead.getData()));
    result.put(
        "imported", List.of(file.getStatus(), file.getImportCount(), file.getRejectedCount()));
    result.put(
        "call",
        List.of(
            instruction.getAction(),
            instruction.getDial().stream().map(DialBuyer::getName).toList()));
    result.put(
        "decision",
        decision.getCandidates().stream()
            .map(buyer -> List.of(buyer.getName(), buyer.getChosen()))
            .toList());
    result.put("problem", List.of(problem.getStatus(), problem.getErrors().keySet()));
    System.out.println(JSON.getGson().toJson(result).replace("\n", ""));
  }

  /** Uploads a file and waits until it is imported. */
  static BuyerSuppressionFile upload(BuyerSuppressionFilesApi files) throws Exception {
    File csv = new File("numbers.csv");
    Files.writeString(csv.toPath(), "6175550144\nnone\n");
    BuyerSuppressionFile file =
        files
            .createBuyerSuppressionFile()
            .buyerSuppressionId(System.getenv("SUPPRESSION_ID"))
            .importFile(csv)
            .execute()
            .getBuyerSuppressionFile();
    while (file.getStatus().toString().matches("pending|running")) {
      Thread.sleep(100);
      file =
          files
              .showBuyerSuppressionFile(file.getId().toString())
              .execute()
              .getBuyerSuppressionFile();
    }
    return file;
  }
}
