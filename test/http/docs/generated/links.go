// Calls a service through the Go client that openapi-generator makes, and prints what it decoded.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	linkledger "example.com/linkledger/client"
)

// Ends the program unless the answer came and was decoded.
func decoded[T any](answer *T, _ *http.Response, err error) *T {
	if err != nil {
		if failure, ok := err.(*linkledger.GenericOpenAPIError); ok {
			log.Fatalf("%v: %s", err, failure.Body())
		}
		log.Fatal(err)
	}
	return answer
}

// Visits an address as a person does; the redirect is not followed.
func visit(address string) int {
	request, err := http.NewRequest("GET", address, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("User-Agent", "curl/8.0")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		log.Fatal(err)
	}
	return response.StatusCode
}

func main() {
	address := os.Args[1]
	configuration := linkledger.NewConfiguration()
	configuration.Servers = linkledger.ServerConfigurations{{URL: address}}
	api := linkledger.NewAPIClient(configuration)

	ann := *linkledger.NewPostRegisterRequest("go@example.com", "correct horse 1")
	account := decoded(api.AccountAPI.PostRegister(context.Background()).PostRegisterRequest(ann).Execute())
	key := account.PostRegister200ResponseAnyOf.ApiKey
	ctx := context.WithValue(context.Background(), linkledger.ContextAccessToken, key)

	link := *linkledger.NewPostUrlAddRequest("https://example.com/go")
	link.SetCustom("go")
	link.SetTags([]string{"made"})
	made := decoded(api.LinksAPI.PostUrlAdd(ctx).PostUrlAddRequest(link).Execute())
	before := decoded(api.LinksAPI.GetUrlById(ctx, made.Id).Execute())

	visited := visit(address + "/go")
	after := before
	for end := time.Now().Add(30 * time.Second); after.Data.Clicks == 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		after = decoded(api.LinksAPI.GetUrlById(ctx, made.Id).Execute())
	}

	listed := []string{}
	for _, row := range decoded(api.LinksAPI.GetUrls(ctx).Q("go").Limit(5).Execute()).LinkList.Data.Urls {
		if row.Id == made.Id {
			listed = append(listed, row.GetLongurl())
		}
	}
	second := decoded(api.APIKeysAPI.PostKeyAdd(ctx).PostKeyAddRequest(
		*linkledger.NewPostKeyAddRequest("to delete", []string{"read"})).Execute())
	revoked := decoded(api.APIKeysAPI.DeleteKeyByIdDelete(ctx, second.Id).Execute())
	deleted := decoded(api.LinksAPI.DeleteUrlByIdDelete(ctx, made.Id).Execute())

	_, _, err := api.LinksAPI.GetUrlById(ctx, made.Id).Execute()
	problem, ok := err.(*linkledger.GenericOpenAPIError)
	if !ok {
		log.Fatalf("a deleted link was answered: %v", err)
	}
	gone, ok := problem.Model().(linkledger.Failure)
	if !ok {
		log.Fatalf("the failure was not decoded: %s", problem.Body())
	}

	result, err := json.Marshal(map[string]any{
		"alias":   before.Details.Alias,
		"tags":    before.Details.Tags,
		"before":  []any{before.Data.Clicks, before.Data.TopBrowsers},
		"visited": visited,
		"after":   []any{after.Data.Clicks, after.Data.TopCountries},
		"listed":  listed,
		"revoked": revoked.Undo,
		"deleted": deleted.Undo.Method,
		"gone":    []string{gone.Code, gone.Message},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(result))
}
